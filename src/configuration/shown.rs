//! What `--show-config` prints: each configuration with the file that it comes from, as TOML.

use super::Layer;

pub(super) fn toml(layers: &[Layer]) -> String {
    if layers.is_empty() {
        return "# no leaselint.toml and no [workspace.metadata.leaselint] at or above the checked paths\n"
            .to_owned();
    }
    let each = layers.iter().map(|layer| {
        let mut text = format!("# {}\n", layer.origin);
        // What was read from TOML can be written as TOML.
        text += &toml::to_string(&layer.written).unwrap_or_default();
        for client in &layer.written.client {
            text += &format!("# [[client]] {}\n", client.name());
        }
        text
    });
    each.collect::<Vec<_>>().join("\n")
}
