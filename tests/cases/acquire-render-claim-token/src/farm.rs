use std::process::Stdio;

use crate::claims::{Render, Renders};

pub struct Farm {
    renders: Renders,
    blender: std::path::PathBuf,
}

impl Farm {
    pub fn new(renders: Renders, blender: std::path::PathBuf) -> Self {
        Farm { renders, blender }
    }

    pub async fn step(&self) -> anyhow::Result<bool> {
        let Some(render) = self.renders.claim().await? else {
            return Ok(false);
        };
        let known = match self.render(&render) {
            Ok(output) => self.renders.done(render.id, &output).await?,
            Err(problem) => {
                self.renders
                    .failed(render.id, &format!("{problem:#}"))
                    .await?
            }
        };
        if !known {
            tracing::warn!(id = render.id, "render had ended before");
        }
        Ok(true)
    }

    fn render(&self, render: &Render) -> anyhow::Result<String> {
        let out = format!("/out/{}.png", render.id);
        let status = std::process::Command::new(&self.blender)
            .args(["-b", &render.scene, "-o", &out])
            .stdout(Stdio::null())
            .status()?;
        anyhow::ensure!(status.success(), "blender ended with {status}");
        Ok(out)
    }
}
