mod drill;

pub use drill::DrillRooms;

use uuid::Uuid;

/// Hands out rooms; a room belongs to one class until it is given back.
#[async_trait::async_trait]
pub trait Rooms {
    type Error;
    async fn enter(&self, room: &str) -> Result<Option<Uuid>, Self::Error>;
    async fn exit(&self, room: &str, class: Uuid) -> Result<bool, Self::Error>;
}
