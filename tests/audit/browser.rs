//! What a real browser shows of a page.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

pub struct Picture {
    width: usize,
    height: usize,
    channels: usize,
    bytes: Vec<u8>,
}

/// A screenshot.
pub fn picture(page: &Path, width: usize, height: usize, at_night: bool) -> Picture {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("picture.png");
    let scheme = if at_night { 0 } else { 1 };
    run(
        folder.path(),
        page,
        &[
            "--hide-scrollbars".to_owned(),
            format!("--blink-settings=preferredColorScheme={scheme}"),
            format!("--window-size={width},{height}"),
            format!("--screenshot={}", file.display()),
        ],
    );
    let mut reader =
        png::Decoder::new(std::io::BufReader::new(fs::File::open(&file).unwrap())).read_info().unwrap();
    let mut bytes = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut bytes).unwrap();
    Picture {
        width: info.width as usize,
        height: info.height as usize,
        channels: info.color_type.samples(),
        bytes,
    }
}

/// The page as it is printed.
pub fn paper(page: &Path) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("page.pdf");
    run(
        folder.path(),
        page,
        &["--no-pdf-header-footer".to_owned(), format!("--print-to-pdf={}", file.display())],
    );
    fs::read(file).unwrap()
}

fn run(folder: &Path, page: &Path, arguments: &[String]) {
    let output = Command::new("chromium")
        .args(["--headless", "--no-sandbox", "--disable-gpu"])
        .arg(format!("--user-data-dir={}", folder.display()))
        .args(arguments)
        .arg(format!("file://{}", page.display()))
        .output()
        .expect("chromium starts (Debian: chromium)");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

impl Picture {
    pub fn at(&self, x: usize, y: usize) -> [u8; 3] {
        let from = (y * self.width + x) * self.channels;
        [self.bytes[from], self.bytes[from + 1], self.bytes[from + 2]]
    }

    fn all(&self) -> impl Iterator<Item = [u8; 3]> + '_ {
        (0..self.height).flat_map(move |y| (0..self.width).map(move |x| self.at(x, y)))
    }

    pub fn colours(&self) -> usize {
        self.all().collect::<BTreeSet<_>>().len()
    }

    /// Whether nothing is drawn along the sides.
    pub fn is_plain_at_the_edges(&self, ground: [u8; 3]) -> bool {
        (0..self.height).all(|y| self.at(1, y) == ground && self.at(self.width - 2, y) == ground)
    }

    /// The part of the picture that is not ground.
    pub fn inked(&self, ground: [u8; 3]) -> f64 {
        let inked = self.all().filter(|colour| *colour != ground).count();
        inked as f64 / (self.width * self.height) as f64
    }
}
