// SPDX-License-Identifier: Apache-2.0
//! Names of people, companies and places, with what stands for them in an e-mail address.

/// A first or last name, and how it is spelled in an address.
pub(crate) type Name = (&'static str, &'static str);

pub(crate) const FIRST: &[Name] = &[
    ("Ana", "ana"),
    ("Zoë", "zoe"),
    ("Björn", "bjorn"),
    ("Chloé", "chloe"),
    ("Dmitri", "dmitri"),
    ("Elif", "elif"),
    ("Farah", "farah"),
    ("Grace", "grace"),
    ("Hiroko", "hiroko"),
    ("Ingrid", "ingrid"),
    ("José", "jose"),
    ("Katarzyna", "katarzyna"),
    ("Łukasz", "lukasz"),
    ("Mehmet", "mehmet"),
    ("Ngozi", "ngozi"),
    ("Omar", "omar"),
    ("Priya", "priya"),
    ("Quentin", "quentin"),
    ("Renée", "renee"),
    ("Søren", "soren"),
    ("Thandiwe", "thandiwe"),
    ("Uma", "uma"),
    ("Vikram", "vikram"),
    ("美咲", "misaki"),
];

pub(crate) const LAST: &[Name] = &[
    ("Almeida", "almeida"),
    ("Brown", "brown"),
    ("Çelik", "celik"),
    ("Díaz", "diaz"),
    ("Eriksson", "eriksson"),
    ("Fernández", "fernandez"),
    ("Gupta", "gupta"),
    ("Haddad", "haddad"),
    ("Ito", "ito"),
    ("Jóhannsdóttir", "johannsdottir"),
    ("Kowalski", "kowalski"),
    ("Larsen", "larsen"),
    ("Müller", "mueller"),
    ("Nguyễn", "nguyen"),
    ("O'Brien", "obrien"),
    ("Papadopoulos", "papadopoulos"),
    ("Quispe", "quispe"),
    ("Rossi", "rossi"),
    ("Sokolov", "sokolov"),
    ("Tanaka", "tanaka"),
    ("Weiß", "weiss"),
    ("Žitnik", "zitnik"),
];

pub(crate) const MAIL_DOMAINS: &[&str] = &["mail.example", "post.example", "inbox.example", "letters.example"];
pub(crate) const FORMER_DOMAIN: &str = "oldmail.example";
pub(crate) const COUNTRIES: &[&str] = &["IN", "DE", "FR", "BR", "JP", "NG", "PL", "SE", "TR", "US"];
pub(crate) const PLANS: &[&str] = &["free", "free", "free", "plus", "plus", "pro"];

/// A company name for this number; some are not ASCII.
pub(crate) fn company(number: u64) -> String {
    const FIRST_WORDS: &[&str] = &["Acme", "Blue Harbor", "Café Orchidée", "Dunder", "Eastern", "Fjäll", "Globex", "Hooli", "Initech", "Jade 玉", "Kestrel"];
    const LAST_WORDS: &[&str] = &["Trading", "Foods", "& Sons", "GmbH", "Pvt Ltd", "Studio", "Logistics"];
    let first = FIRST_WORDS[(number % FIRST_WORDS.len() as u64) as usize];
    let last = LAST_WORDS[(number / FIRST_WORDS.len() as u64 % LAST_WORDS.len() as u64) as usize];
    format!("{first} {last}")
}
