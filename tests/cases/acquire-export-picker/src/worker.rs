use uuid::Uuid;

use crate::picker::{Export, Picker};

pub trait Render {
    fn render(
        &self,
        export: &Export,
    ) -> impl std::future::Future<Output = anyhow::Result<String>> + Send;
}

pub struct Worker<R> {
    id: Uuid,
    picker: Picker,
    render: R,
}

impl<R: Render> Worker<R> {
    pub fn new(picker: Picker, render: R) -> Self {
        Worker {
            id: Uuid::new_v4(),
            picker,
            render,
        }
    }

    pub async fn round(&self) -> anyhow::Result<usize> {
        let exports = self.picker.pick(self.id, 5).await?;
        let picked = exports.len();
        for export in exports {
            let url = self.render.render(&export).await?;
            if !self.picker.finish(export.id, self.id, &url).await? {
                tracing::warn!(id = export.id, "somebody else finished it");
            }
        }
        Ok(picked)
    }
}
