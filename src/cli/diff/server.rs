//! Real Kafka at the other end of a pipe: `conformance/replay VERSION --serve`, whose requests and answers
//! `conformance/README.md` defines.

use std::io::{BufRead, BufReader, Error, Read, Result, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// A running server. It ends when [`Requests`] is dropped.
#[derive(Debug)]
pub struct Server {
    /// The process.
    pub child: Child,
    /// Where the next requests go.
    pub requests: Requests,
    /// Where their answers come from, in order.
    pub answers: Answers,
}

/// The pipe to a server.
#[derive(Debug)]
pub struct Requests(ChildStdin);

/// The pipe from a server.
#[derive(Debug)]
pub struct Answers(BufReader<ChildStdout>);

/// What a server makes of a trace.
#[derive(Debug)]
pub enum Answer {
    /// The text of its outcomes.
    Outcomes(String),
    /// Why it has none.
    Refused(String),
}

impl Server {
    /// Starts the server of a Kafka version. What it has to complain about goes to standard error.
    pub fn start(replay: &Path, version: &str, topic_cache: bool) -> Result<Server> {
        let mut command = Command::new(replay);
        command.arg(version);
        if !topic_cache {
            command.arg("--no-topic-cache");
        }
        command.arg("--serve").stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().map_err(|e| Error::other(format!("{}: {e}", replay.display())))?;
        let (Some(requests), Some(answers)) = (child.stdin.take(), child.stdout.take()) else {
            unreachable!("both are piped");
        };
        Ok(Server { child, requests: Requests(requests), answers: Answers(BufReader::new(answers)) })
    }

    /// One trace, one answer; nothing else may be under way.
    pub fn ask(&mut self, trace: &str) -> Result<Answer> {
        self.requests.send(trace)?;
        self.answers.next()
    }

    /// Waits until the server has ended.
    pub fn finish(mut self) -> Result<()> {
        drop(self.requests);
        let status = self.child.wait()?;
        if status.success() { Ok(()) } else { Err(Error::other(format!("real Kafka's server ended with {status}"))) }
    }
}

impl Requests {
    /// Asks for the outcomes of a trace.
    pub fn send(&mut self, trace: &str) -> Result<()> {
        self.0.write_all(format!("trace {}\n{trace}", trace.len()).as_bytes())
    }
}

impl Answers {
    /// The next answer.
    pub fn next(&mut self) -> Result<Answer> {
        let mut head = String::new();
        if self.0.read_line(&mut head)? == 0 {
            return Err(Error::other("real Kafka's server ended before its answer"));
        }
        let words: Vec<&str> = head.split_whitespace().collect();
        let (is_refused, length) = match words[..] {
            ["outcomes", length] => (false, length),
            ["refused", _, length] => (true, length),
            _ => return Err(Error::other(format!("not an answer of real Kafka's server: {head:?}"))),
        };
        let length = length.parse().map_err(Error::other)?;
        let mut bytes = vec![0; length];
        self.0.read_exact(&mut bytes).map_err(|_| Error::other("real Kafka's server ended within an answer"))?;
        let text = String::from_utf8(bytes).map_err(Error::other)?;
        Ok(if is_refused { Answer::Refused(text) } else { Answer::Outcomes(text) })
    }
}
