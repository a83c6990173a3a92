//! Runs the linter that is under test in some folder and reads its JSON report. It holds no expectation of
//! its own: what a report must say is the business of the tests that use it.

use std::fs::File;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde::Deserialize;

/// One finding, as far as tests compare it.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Finding {
    pub(crate) rule: String,
    pub(crate) confidence: String,
    pub(crate) message: String,
    pub(crate) path: String,
    pub(crate) span: Span,
    #[serde(default)]
    pub(crate) related: Vec<Related>,
    #[serde(default)]
    pub(crate) group: String,
    #[serde(default)]
    pub(crate) counterexample: Vec<serde_json::Value>,
}

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Span {
    pub(crate) start: Position,
}

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Position {
    pub(crate) line: usize,
}

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Related {
    pub(crate) path: String,
    pub(crate) span: Span,
}

#[derive(Deserialize)]
struct Report {
    schema: u64,
    findings: Vec<Finding>,
}

impl Finding {
    pub(crate) fn line(&self) -> usize {
        self.span.start.line
    }
}

/// Why a run gave no report that could be judged.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    #[error("no answer in {0:?}")]
    Timeout(Duration),
    #[error("ended with {status}: {stderr}")]
    Status { status: String, stderr: String },
    #[error("not the JSON of the contract: {0}")]
    Json(#[from] serde_json::Error),
    #[error("schema {0} where 1 was expected")]
    Schema(u64),
    #[error("could not be run: {0}")]
    Io(#[from] std::io::Error),
}

/// `leaselint check --format json .` with `folder` as its working folder.
pub(crate) fn check(folder: &Path, limit: Duration) -> Result<Vec<Finding>, Failure> {
    // Files, not pipes: a full pipe would stop the tool while nobody reads.
    let scratch = tempfile::tempdir()?;
    let (out, err) = (scratch.path().join("out"), scratch.path().join("err"));
    let mut child = Command::new(env!("CARGO_BIN_EXE_leaselint"))
        .args(["check", "--format", "json", "."])
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(File::create(&out)?)
        .stderr(File::create(&err)?)
        .spawn()?;
    let started = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if started.elapsed() > limit {
            child.kill()?;
            child.wait()?;
            return Err(Failure::Timeout(limit));
        }
        sleep(Duration::from_millis(5));
    };
    if !matches!(status.code(), Some(0 | 1)) {
        let stderr = String::from_utf8_lossy(&std::fs::read(&err)?).trim().to_owned();
        return Err(Failure::Status { status: status.to_string(), stderr });
    }
    let report: Report = serde_json::from_slice(&std::fs::read(&out)?)?;
    if report.schema == 1 { Ok(report.findings) } else { Err(Failure::Schema(report.schema)) }
}
