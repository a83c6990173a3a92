//! The etcd store's requests, sent by hand over one kept connection.

use http_body_util::{BodyExt, Full};
use hyper::Request;
use hyper::body::Bytes;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use serde_json::{Value, json};

/// The key and the owner value, in base64.
const KEY: &str = "YnkgaGFuZA==";
const OWNER: &str = "MDEyMzQ1Njc4OWFiY2RlZg==";

pub struct PlainEtcd {
    client: Client<HttpConnector, Full<Bytes>>,
    address: String,
    lease: Value,
}

impl PlainEtcd {
    pub fn new(address: &str) -> Self {
        let mut connector = HttpConnector::new();
        connector.set_nodelay(true);
        let client = Client::builder(TokioExecutor::new()).build(connector);
        Self { client, address: address.to_owned(), lease: Value::Null }
    }

    async fn ask(&self, path: &str, message: &Value) -> Value {
        let request = Request::post(format!("{}{path}", self.address));
        let request = request.body(Full::new(Bytes::from(message.to_string()))).expect("it is well formed");
        let response = self.client.request(request).await.expect("it is up");
        let body = response.into_body().collect().await.expect("it answers").to_bytes();
        serde_json::from_slice(&body).expect("it is JSON")
    }

    /// A lease, and the key under it unless somebody has it.
    pub async fn acquire(&mut self) {
        let granted = self.ask("/v3/lease/grant", &json!({ "TTL": "6" })).await;
        self.lease = granted["ID"].clone();
        let lease = &self.lease;
        let transaction = json!({
            "compare": [{ "target": "CREATE", "key": KEY, "result": "EQUAL", "create_revision": "0" }],
            "success": [{ "request_put": { "key": KEY, "value": OWNER, "lease": lease } }],
        });
        let answer = self.ask("/v3/kv/txn", &transaction).await;
        assert_eq!(answer["succeeded"], json!(true));
    }

    /// Both requests side by side.
    pub async fn renew(&mut self) {
        let (lease, key) = (json!({ "ID": self.lease }), json!({ "key": KEY }));
        let both = tokio::join!(self.ask("/v3/lease/keepalive", &lease), self.ask("/v3/kv/range", &key));
        std::hint::black_box(both);
    }

    pub async fn release(&mut self) {
        std::hint::black_box(self.ask("/v3/lease/revoke", &json!({ "ID": self.lease })).await);
    }
}
