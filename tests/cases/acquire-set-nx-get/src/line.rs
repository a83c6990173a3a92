use rustis::client::Client;
use rustis::commands::{
    CallBuilder, ScriptingCommands, SetCondition, SetExpiration, StringCommands,
};
use uuid::Uuid;

/// A serial line on which only one reader may talk at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineId(pub u16);

impl LineId {
    fn key(self) -> String {
        format!("line:{:03}:talking", self.0)
    }
}

pub struct Line {
    client: Client,
    id: LineId,
    reader: String,
}

pub enum Attempt {
    Ours(Line),
    Busy { reader: String },
}

const HANG_UP: &str = "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) else return 0 end";

impl Line {
    pub async fn seize(client: &Client, id: LineId) -> rustis::Result<Attempt> {
        let reader = Uuid::new_v4().to_string();
        let before: Option<String> = client
            .set_get_with_options(
                id.key(),
                reader.clone(),
                SetCondition::NX,
                SetExpiration::Px(8_000),
                false,
            )
            .await?;
        Ok(match before {
            None => Attempt::Ours(Line {
                client: client.clone(),
                id,
                reader,
            }),
            Some(reader) => Attempt::Busy { reader },
        })
    }

    pub fn id(&self) -> LineId {
        self.id
    }

    pub async fn hang_up(self) -> rustis::Result<bool> {
        let call = CallBuilder::script(HANG_UP)
            .keys(self.id.key())
            .args(self.reader);
        let n: i64 = self.client.eval(call).await?;
        Ok(n != 0)
    }
}
