// SPDX-License-Identifier: Apache-2.0
//! Paths in a configuration are relative to its file, also inside `sqlite://` and `file://` URLs.

use std::path::{Component, Path, PathBuf};

/// The path below `folder` unless it is absolute, without `.` and `..`.
pub(crate) fn absolute(folder: &Path, path: &str) -> PathBuf {
    let mut out = PathBuf::new();
    for part in folder.join(path).components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                out.pop();
            }
            part => out.push(part),
        }
    }
    out
}

/// `sqlite://./a.db` → `sqlite:///folder/a.db`. Query parts stay, other schemes too.
pub(crate) fn absolute_url(folder: &Path, url: &str) -> String {
    for scheme in ["sqlite:", "file:"] {
        let Some(rest) = url.strip_prefix(scheme) else { continue };
        let rest = rest.strip_prefix("//").unwrap_or(rest);
        let (path, query) = rest.split_at(rest.find('?').unwrap_or(rest.len()));
        if path.is_empty() || path == ":memory:" {
            return url.to_owned();
        }
        return format!("{scheme}//{}{query}", absolute(folder, path).display());
    }
    url.to_owned()
}

/// An option of a connector that is plainly a relative path becomes absolute; everything else stays as it is.
pub(crate) fn absolute_option(folder: &Path, value: String) -> String {
    let relative = value.starts_with("./") || value.starts_with("../");
    if relative { absolute(folder, &value).display().to_string() } else { value }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_become_absolute() {
        let folder = Path::new("/project");
        assert_eq!(absolute_url(folder, "sqlite://./data/c.db?mode=ro"), "sqlite:///project/data/c.db?mode=ro");
        assert_eq!(absolute_url(folder, "file:///lake"), "file:///lake");
        assert_eq!(absolute_url(folder, "file://../lake"), "file:///lake");
        assert_eq!(absolute_url(folder, "s3://bucket/./x"), "s3://bucket/./x");
        assert_eq!(absolute_url(folder, "sqlite://:memory:"), "sqlite://:memory:");
    }
}
