use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use dashmap::DashMap;
use uuid::Uuid;

/// Locks by name among the tasks of one process.
#[derive(Clone, Default)]
pub struct LocalLocks {
    held: Arc<DashMap<String, Uuid>>,
}

impl LocalLocks {
    pub fn acquire(&self, name: &str) -> Option<Uuid> {
        if self.held.contains_key(name) {
            return None;
        }
        let owner = Uuid::new_v4();
        self.held.insert(name.to_owned(), owner);
        Some(owner)
    }

    pub fn release(&self, name: &str, owner: Uuid) -> bool {
        let is_mine = self.held.get(name).map(|o| *o == owner).unwrap_or(false);
        if is_mine {
            self.held.remove(name);
        }
        is_mine
    }
}

/// The same with a plain map, for single threads.
#[derive(Default)]
pub struct LeaseTable {
    leases: Mutex<HashMap<u64, String>>,
}

impl LeaseTable {
    pub fn set_nx(&self, id: u64, owner: &str) -> bool {
        let mut t = self.leases.lock().unwrap();
        if t.get(&id).is_some() {
            return false;
        }
        t.insert(id, owner.to_string());
        true
    }

    pub fn del(&self, id: u64) {
        self.leases.lock().unwrap().remove(&id);
    }

    pub fn expire(&self, id: u64, owner: &str) {
        let mut t = self.leases.lock().unwrap();
        if t.get(&id).is_some_and(|o| o == owner) {
            t.remove(&id);
        }
    }
}
