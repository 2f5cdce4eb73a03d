//! Pictures of small runs.

use super::*;
use crate::report::RunFiles;
use xxhash_rust::xxh3::xxh3_128;

/// The files of a run of two strategies, each changed by `edit`.
fn run(edit: impl Fn(&str, String) -> String) -> Vec<OutputFile> {
    let both = |rows: &[&str]| {
        let of = |name: &str| rows.iter().map(|row| format!("s,1,{name},{row}\n")).collect::<String>();
        of("cached-hash") + &of("ideal")
    };
    let files = [
        ("run.json", r#"{"scenario":{"name":"s"},"kafka":"4.3.1","seeds":[1],"until_ms":20000,"strategies":[{"name":"cached-hash"},{"name":"ideal"}]}"#.to_owned()),
        (
            "summary.csv",
            "scenario,seed,strategy,refreshes,epoch_bumps,idle_bumps,needless_bumps,missed_changes,appended_bytes,strategy_bytes,topic_hashes,cpu_model_ns\n".to_owned()
                + &both(&["4,1,0,0,,3000,10,2,8000"]),
        ),
        (
            "timeline.csv",
            "scenario,seed,strategy,time_ms,epoch_bumps,appended_bytes,log_bytes,topic_hashes,cpu_model_ns\n".to_owned()
                + &both(&["0,1,2000,2000,2,5000", "10000,0,1000,3000,0,3000"]),
        ),
        (
            "bumps.csv",
            "scenario,seed,strategy,time_ms,kind,group,old_epoch,new_epoch,cause,topic,field,event,delay_ms,assignment_changed,needless,image,before,after,wrote,followed\n".to_owned()
                + &both(&["7000,consumer,g<1>,1,2,refresh,t,racks,register,3000,false,false,2,0: a,0: b,ConsumerGroupMetadata 1 33,"]),
        ),
        ("delays.csv", "scenario,seed,strategy,changes\n".to_owned() + &both(&["1"])),
        ("records.csv", "scenario,seed,strategy,record_type,batch_bytes\n".to_owned() + &both(&["ConsumerGroupMetadata,33", "ConsumerGroupMemberMetadata,900"])),
        ("operations.csv", "scenario,seed,strategy,operation,count\n".to_owned() + &both(&["refresh,4"])),
    ];
    files.into_iter().map(|(name, text)| OutputFile { name, bytes: edit(name, text).into_bytes() }).collect()
}

fn figures_of(files: &[OutputFile]) -> Result<Vec<Figure>, crate::report::ReportError> {
    figures(&RunFiles::of(files)?)
}

/// The same on any machine; PNGs on machines with this arithmetic. When a change of pictures is meant, so are new digests.
#[test]
fn pictures_have_their_digests() {
    let pictures = files(&figures_of(&run(|_, text| text)).expect("a run")).expect("rendered");
    let digest = |ending: &str| {
        let of = pictures.iter().filter(|file| file.name.ends_with(ending));
        format!("{:032x}", xxh3_128(&of.flat_map(|file| file.bytes.clone()).collect::<Vec<u8>>()))
    };
    assert_eq!(pictures.len(), 16);
    assert!(pictures.iter().all(|file| crate::report::FILES.contains(&file.name)));
    assert_eq!(digest(".svg"), "9d86bfae69625e414c6b11b4d245ff25");
    if cfg!(target_arch = "x86_64") {
        assert_eq!(digest(".png"), "2c28baa743cff24674b7d3d7bb9bdd6a");
    }
}

#[test]
fn every_strategy_is_in_every_picture() {
    for figure in figures_of(&run(|_, text| text)).expect("a run") {
        let drawing = draw(&figure, "x").expect("something to show");
        for name in ["cached-hash", "ideal"] {
            assert!(drawing.svg.contains(&format!("data-series=\"{name}\"")), "{name} in {}", figure.title);
        }
    }
}

#[test]
fn a_missing_series_is_an_error() {
    for file in ["timeline.csv", "bumps.csv", "delays.csv", "records.csv", "summary.csv"] {
        let less = |name: &str, text: String| match name == file {
            true => text.lines().filter(|line| !line.contains(",ideal,")).map(|line| format!("{line}\n")).collect(),
            false => text,
        };
        let error = figures_of(&run(less)).expect_err(file).to_string();
        assert!(error.starts_with(&format!("{file}: ")) && error.contains("ideal"), "{error}");
    }
    let less = |_: &str, text: String| text.replace("s,1,ideal,ConsumerGroupMemberMetadata,900\n", "");
    let error = figures_of(&run(less)).expect_err("a type less").to_string();
    assert_eq!(error, "records.csv: 1 record types of strategy ideal, 2 of the first one");
}

#[test]
fn nothing_to_show_is_said() {
    let empty = |name: &str, text: String| match name {
        "bumps.csv" => text.lines().next().unwrap_or_default().to_owned(),
        "timeline.csv" => text.replace(",1,2000,2000,2,5000", ",0,0,0,0,").replace(",0,1000,3000,0,3000", ",0,0,0,0,"),
        "summary.csv" => text.replace(",8000", ","),
        "delays.csv" => text.replace(",1\n", ",0\n"),
        "records.csv" => text.replace(",33", ",0").replace(",900", ",0"),
        _ => text,
    };
    let figures = figures_of(&run(empty)).expect("a run");
    let said: Vec<&str> = figures
        .iter()
        .map(|figure| match &figure.content {
            Content::Nothing(why) => why.as_str(),
            Content::Chart(_) => "a picture",
        })
        .collect();
    assert_eq!(
        said,
        [
            "no strategy appended anything",
            "the logs are empty all the time",
            "no group's epoch was bumped",
            "no group's epoch was bumped",
            "no bump was for a change of a topic",
            "no records were written",
            "this run has no CPU figures: cpu_model_ns is empty",
            "this run has no CPU figures, or no refreshes: cpu_model_ns or refreshes are empty",
        ]
    );
    assert!(files(&figures).expect("none").is_empty());
}

#[test]
fn a_page_has_no_tag_of_a_name() {
    let files = run(|_, text| text);
    let page = crate::report::page(&[RunFiles::of(&files).expect("a run")]).expect("a page");
    assert!(!page.contains("g<1>") && page.contains("g\\u003c1>"));
    assert!(page.contains("<td data-value=\"3000\">3,000</td>") && page.contains("default-src 'none'"));
}
