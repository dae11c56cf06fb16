// SPDX-License-Identifier: Apache-2.0
//! Where an answer goes: standard output, or a file that appears only when it is whole.

use crate::output::{Format, write_failed};
use std::fs::File;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};
use weir_base::{Error, ErrorCode, Result};

/// An open destination. A file that was not finished is removed on drop.
pub struct Destination {
    writer: BufWriter<Box<dyn Write + Send>>,
    part: Option<PartFile>,
}

/// The file beside the target that becomes it at the end.
struct PartFile {
    part: PathBuf,
    target: PathBuf,
}

impl Drop for PartFile {
    fn drop(&mut self) {
        if let Err(error) = std::fs::remove_file(&self.part)
            && error.kind() != io::ErrorKind::NotFound
        {
            tracing::warn!(%error, file = %self.part.display(), "unfinished output could not be removed");
        }
    }
}

impl Destination {
    /// Standard output, or `file` when given. Error: a binary format on a terminal, a file that cannot be made.
    pub fn open(file: Option<&Path>, format: Format) -> Result<Self> {
        let Some(target) = file else {
            if format.binary() && io::stdout().is_terminal() {
                return Err(
                    Error::new(ErrorCode::Config, "a terminal cannot show this format").with_hint("name a file with -o, or send the output into a pipe")
                );
            }
            return Ok(Self { writer: BufWriter::new(Box::new(io::stdout())), part: None });
        };
        let mut name = target.file_name().unwrap_or_default().to_owned();
        name.push(format!(".{}.part", std::process::id()));
        let part = target.with_file_name(name);
        let made = File::create(&part)
            .map_err(|error| Error::new(ErrorCode::Config, "output file cannot be made").with_detail(format!("{}: {error}", part.display())))?;
        let part = PartFile { part, target: target.to_owned() };
        Ok(Self { writer: BufWriter::new(Box::new(made)), part: Some(part) })
    }

    /// Any writer.
    #[cfg(test)]
    pub fn to(writer: impl Write + Send + 'static) -> Self {
        Self { writer: BufWriter::new(Box::new(writer)), part: None }
    }

    /// Everything is written: the file takes its name.
    pub fn finish(mut self) -> Result<()> {
        self.writer.flush().map_err(write_failed)?;
        let Some(part) = self.part.take() else { return Ok(()) };
        drop(self.writer);
        let synced = File::open(&part.part).and_then(|file| file.sync_all());
        synced.and_then(|()| std::fs::rename(&part.part, &part.target)).map_err(write_failed)
    }
}

impl Write for Destination {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.writer.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }
}
