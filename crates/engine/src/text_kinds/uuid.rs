// SPDX-License-Identifier: Apache-2.0
//! A uuid in any spelling that PostgreSQL takes, as it prints it: lower case, with hyphens.

/// The canonical spelling of 32 digits in upper or lower case, with or without braces, with hyphens after any four; `None` for anything else.
pub(super) fn canonical(text: &str) -> Option<String> {
    let text = text.trim();
    let bare = match text.strip_prefix('{') {
        Some(open) => open.strip_suffix('}')?,
        None => text,
    };
    let mut digits = String::with_capacity(32);
    let mut hyphen = true;
    for letter in bare.chars() {
        match letter {
            '-' if !hyphen && digits.len().is_multiple_of(4) && digits.len() < 32 => hyphen = true,
            _ if letter.is_ascii_hexdigit() => {
                digits.push(letter.to_ascii_lowercase());
                hyphen = false;
            }
            _ => return None,
        }
    }
    if digits.len() != 32 {
        return None;
    }
    Some([&digits[..8], &digits[8..12], &digits[12..16], &digits[16..20], &digits[20..]].join("-"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_of_postgres() {
        let id = "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11";
        for text in [
            "A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11",
            "{a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11}",
            "a0eebc999c0b4ef8bb6d6bb9bd380a11",
            "a0ee-bc99-9c0b-4ef8-bb6d-6bb9-bd38-0a11",
            "{a0eebc99-9c0b4ef8-bb6d6bb9-bd380a11}",
        ] {
            assert_eq!(canonical(text).as_deref(), Some(id), "{text}");
        }
        for text in ["", "x", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a1", "{a0eebc999c0b4ef8bb6d6bb9bd380a11", "a0e-ebc999c0b4ef8bb6d6bb9bd380a11"] {
            assert_eq!(canonical(text), None, "{text}");
        }
    }
}
