//! A client's host as Java's `InetAddress.toString` shows it: `name/address`, the name perhaps empty.

use std::net::{IpAddr, Ipv4Addr};

/// What a host must look like.
pub const EXPECTED: &str =
    "must be NAME/ADDRESS, the name perhaps empty and the address an IPv4 or IPv6 address, like /127.0.0.1";

/// The host in Java's form; `None` if it is none. The address is written as Java writes it: IPv6 in full and
/// without `::`, an IPv4-mapped one as IPv4, none at all as the loopback address.
pub fn normalised(text: &str) -> Option<String> {
    let (name, address) = text.split_once('/').unwrap_or(("", text));
    // Java takes brackets off a name; a name that needs them is refused here instead.
    if name.starts_with('[') {
        return None;
    }
    let address = match address.strip_prefix('[') {
        Some(rest) => IpAddr::V6(rest.strip_suffix(']')?.parse().ok()?),
        None if address.is_empty() => IpAddr::V4(Ipv4Addr::LOCALHOST),
        None => address.parse().ok()?,
    };
    let shown = match address {
        IpAddr::V4(v4) => v4.to_string(),
        IpAddr::V6(v6) => match v6.to_ipv4_mapped() {
            Some(v4) => v4.to_string(),
            None => v6.segments().map(|group| format!("{group:x}")).join(":"),
        },
    };
    Some(format!("{name}/{shown}"))
}

#[cfg(test)]
mod tests {
    use super::normalised;

    /// `InetAddress.getByAddress(name, InetAddress.getByName(address).getAddress()).toString()` of Java 17.
    #[test]
    fn as_java_shows_it() {
        for (text, shown) in [
            ("/127.0.0.1", "/127.0.0.1"),
            ("10.1.2.3", "/10.1.2.3"),
            ("host/10.1.2.3", "host/10.1.2.3"),
            ("hôst 😀/10.1.2.3", "hôst 😀/10.1.2.3"),
            ("", "/127.0.0.1"),
            ("a/", "a/127.0.0.1"),
            ("/::1", "/0:0:0:0:0:0:0:1"),
            ("h/[2001:db8::A:0:1]", "h/2001:db8:0:0:0:a:0:1"),
            ("/::ffff:1.2.3.4", "/1.2.3.4"),
            ("/::1.2.3.4", "/0:0:0:0:0:0:102:304"),
        ] {
            assert_eq!(normalised(text).as_deref(), Some(shown), "{text}");
        }
    }

    #[test]
    fn not_a_host() {
        for text in ["host", "a/b/1.2.3.4", "/1.2.3", "/[1.2.3.4]", "/[::1", "[a]/1.2.3.4", "/::1%eth0"] {
            assert_eq!(normalised(text), None, "{text}");
        }
    }
}
