//! The state of the stand-in for Consul, and what requests do to it. Each change has the next index.

use std::collections::{BTreeMap, HashMap};
use std::time::Instant;

use serde_json::{Value, json};

use super::session::Session;

#[derive(Default)]
pub struct World {
    index: u64,
    sessions: BTreeMap<String, Session>,
    created: u64,
    entries: BTreeMap<String, Entry>,
    /// Of the last change of any key, also of its deletion.
    last_change: u64,
    /// Until when a key cannot be locked.
    delayed: HashMap<String, Instant>,
}

#[derive(Clone)]
struct Entry {
    value: Value,
    session: String,
    created: u64,
    modified: u64,
    locked: u64,
}

/// Newer agents take no others, lest caches in between be deceived.
pub fn check_path(key: &str) -> Result<(), String> {
    let taken = |letter: char| letter.is_ascii_alphanumeric() || ",-_./".contains(letter);
    match key.find(|letter| !taken(letter)) {
        Some(at) => Err(format!("key contains invalid character at position {at}")),
        None if key.contains("../") => Err("key contains path traversal sequence".to_owned()),
        None if [".json", ".txt", ".js"].iter().any(|end| key.ends_with(end)) => {
            Err("key contains suspicious file extension".to_owned())
        }
        None => Ok(()),
    }
}

impl World {
    pub fn sessions(&self) -> usize {
        self.sessions.len()
    }

    pub fn create(&mut self, asked: &Value) -> String {
        self.index += 1;
        self.created += 1;
        let name = format!("{:08x}-0000-4000-8000-{:012x}", self.index, self.created);
        self.sessions.insert(name.clone(), Session::new(asked));
        name
    }

    pub fn renew(&mut self, name: &str) -> (u16, Option<u64>, String) {
        let Some(session) = self.sessions.get_mut(name) else {
            return (404, None, format!("Session id '{name}' not found"));
        };
        session.restart_timer();
        (200, None, json!([{ "ID": name, "TTL": session.ttl_as_given }]).to_string())
    }

    /// Ends a session; the keys that it held are deleted or freed, and cannot be locked for a while.
    pub fn end(&mut self, name: &str) {
        let Some(session) = self.sessions.remove(name) else { return };
        self.index += 1;
        let held = self.entries.iter().filter(|(_, entry)| entry.session == name);
        let held: Vec<String> = held.map(|(key, _)| key.clone()).collect();
        for key in held {
            if session.deletes {
                self.entries.remove(&key);
            } else if let Some(entry) = self.entries.get_mut(&key) {
                entry.session.clear();
                entry.modified = self.index;
            }
            self.last_change = self.index;
            self.delayed.insert(key, Instant::now() + session.lock_delay);
        }
    }

    pub fn end_all(&mut self) {
        let all: Vec<String> = self.sessions.keys().cloned().collect();
        all.iter().for_each(|name| self.end(name));
    }

    /// Whether there was something.
    pub fn end_what_is_due(&mut self) -> bool {
        let due = self.sessions.iter().filter(|(_, session)| session.is_due());
        let due: Vec<String> = due.map(|(name, _)| name.clone()).collect();
        due.iter().for_each(|name| self.end(name));
        !due.is_empty()
    }

    pub fn restart_timers(&mut self) {
        self.sessions.values_mut().for_each(Session::restart_timer);
    }

    pub fn list(&self) -> String {
        let all =
            self.sessions.iter().map(|(name, session)| json!({ "ID": name, "TTL": session.ttl_as_given }));
        Value::from_iter(all).to_string()
    }

    pub fn delete(&mut self, key: &str) {
        self.index += 1;
        if self.entries.remove(key).is_some() {
            self.last_change = self.index;
        }
    }

    pub fn entry(&self, key: &str) -> Option<Value> {
        let entry = self.entries.get(key)?;
        let mut told = json!({
            "Key": key,
            "Value": entry.value,
            "Flags": 0,
            "CreateIndex": entry.created,
            "ModifyIndex": entry.modified,
            "LockIndex": entry.locked,
        });
        if !entry.session.is_empty() {
            told["Session"] = json!(entry.session);
        }
        Some(told)
    }

    /// Of the key's last change; for a key that is not there, of the last change of any.
    pub fn index_of(&self, key: &str) -> u64 {
        self.entries.get(key).map_or(self.last_change, |entry| entry.modified).max(1)
    }

    /// All steps, or none when one fails.
    pub fn transact(&mut self, steps: &Value) -> (u16, Option<u64>, String) {
        let before = (self.entries.clone(), self.last_change);
        self.index += 1;
        let (mut results, mut errors) = (Vec::new(), Vec::new());
        for (at, step) in steps.as_array().into_iter().flatten().enumerate() {
            match self.step(&step["KV"]) {
                Ok(result) => results.extend(result.map(|entry| json!({ "KV": entry }))),
                Err(what) => errors.push(json!({ "OpIndex": at, "What": what })),
            }
        }
        if errors.is_empty() {
            return (200, None, json!({ "Results": results, "Errors": null }).to_string());
        }
        (self.entries, self.last_change) = before;
        (409, None, json!({ "Results": null, "Errors": errors }).to_string())
    }

    fn step(&mut self, step: &Value) -> Result<Option<Value>, String> {
        let text = |name: &str| step[name].as_str().unwrap_or_default().to_owned();
        let (key, session) = (text("Key"), text("Session"));
        let held_by = self.entries.get(&key).map(|entry| entry.session.clone());
        match text("Verb").as_str() {
            "lock" => {
                if self.delayed.get(&key).is_some_and(|until| *until > Instant::now()) {
                    return Err(format!("failed to lock key \"{key}\" due to lock delay"));
                }
                if !self.sessions.contains_key(&session) {
                    return Err(format!("invalid session \"{session}\""));
                }
                if held_by.is_some_and(|holder| !holder.is_empty() && holder != session) {
                    return Err(format!("failed to lock key \"{key}\", lock is already held"));
                }
                self.put(&key, step["Value"].clone(), session);
                Ok(self.entry(&key).map(without_value))
            }
            "check-session" => match held_by {
                None => Err(format!("failed to check session, key \"{key}\" doesn't exist")),
                Some(holder) if holder != session => Err(format!(
                    "failed session check for key \"{key}\", current session \"{holder}\" != \"{session}\""
                )),
                Some(_) => Ok(self.entry(&key).map(without_value)),
            },
            "get" => match self.entry(&key) {
                None => Err(format!("key \"{key}\" doesn't exist")),
                entry => Ok(entry),
            },
            "delete" => {
                if self.entries.remove(&key).is_some() {
                    self.last_change = self.index;
                }
                Ok(None)
            }
            verb => Err(format!("unknown KV verb \"{verb}\"")),
        }
    }

    fn put(&mut self, key: &str, value: Value, session: String) {
        let index = self.index;
        let known = self.entries.get(key);
        let (created, locked) = known.map_or((index, 0), |entry| (entry.created, entry.locked));
        let again = known.is_some_and(|entry| entry.session == session);
        let locked = locked + u64::from(!again);
        self.entries.insert(key.to_owned(), Entry { value, session, created, modified: index, locked });
        self.last_change = index;
    }
}

/// Only what was asked for by `get` comes with its value.
fn without_value(mut entry: Value) -> Value {
    entry["Value"] = Value::Null;
    entry
}
