// SPDX-License-Identifier: Apache-2.0
//! Addresses of networks and hosts (`inet`, `cidr`, `inet4`, `inet6`) as PostgreSQL puts them in an order: by family, network, length of the
//! prefix, and host. Two spellings of one address have one key.

use std::net::IpAddr;

/// A text whose letters are in the order of the addresses; `None` for a text that is none.
pub(super) fn key(text: &str) -> Option<String> {
    let text = text.trim();
    let (address, prefix) = match text.split_once('/') {
        Some((address, prefix)) if prefix.len() <= 3 && prefix.bytes().all(|byte| byte.is_ascii_digit()) => (address, Some(prefix.parse::<u32>().ok()?)),
        Some(_) => return None,
        None => (text, None),
    };
    let (family, bits, value) = match address.parse::<IpAddr>().ok()? {
        IpAddr::V4(address) => (4, 32, u128::from(u32::from(address))),
        IpAddr::V6(address) => (6, 128, u128::from(address)),
    };
    let prefix = prefix.unwrap_or(bits);
    if prefix > bits {
        return None;
    }
    let hosts = bits - prefix;
    let network = value.checked_shr(hosts).unwrap_or(0).checked_shl(hosts).unwrap_or(0);
    Some(format!("{family}:{network:032x}/{prefix:03}:{value:032x}"))
}

#[cfg(test)]
mod tests {
    use super::key;

    #[test]
    fn addresses_are_in_the_order_of_postgres() {
        // SELECT … ORDER BY in PostgreSQL 15.
        let ordered = [
            "0.0.0.0/0",
            "9.9.9.9",
            "10.0.0.0/8",
            "10.0.0.1/8",
            "10.0.0.0/9",
            "10.0.0.10/24",
            "10.0.0.9",
            "10.0.0.10",
            "192.168.0.1",
            "::/0",
            "::1",
            "::ffff:1.2.3.4",
            "2001:db8::/32",
            "2001:db8::1/32",
            "2001:db8::1",
        ];
        let keys: Vec<String> = ordered.iter().map(|text| key(text).unwrap()).collect();
        assert!(keys.is_sorted(), "{keys:#?}");
    }

    #[test]
    fn one_address_has_one_key() {
        assert_eq!(key("10.0.0.9"), key(" 10.0.0.9/32 "));
        assert_eq!(key("2001:DB8::0:1"), key("2001:db8::1/128"));
        assert_ne!(key("10.0.0.9"), key("10.0.0.9/31"));
        for wrong in ["", "10", "10.0.0", "10.0.0.9/33", "10.0.0.9/", "10.0.0.9/+1", "::1/129", "x", "10.0.0.256", "10.0.0.9/8/8"] {
            assert_eq!(key(wrong), None, "{wrong}");
        }
    }
}
