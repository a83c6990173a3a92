//! One type for all stores: [`LeaseStore`] behind a pointer, so that leases and their renewal need no type
//! parameter. Nothing but boxing.

use std::future::Future;
use std::pin::Pin;

use super::{Acquisition, Capabilities, Claim, LeaseStore, Renewal, StoreError, Surrender, Watch};
use crate::key::LeaseKey;
use crate::token::OwnerValue;

/// A future on the heap.
pub(crate) type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// [`LeaseStore`] with boxed futures.
pub(crate) trait AnyStore: Send + Sync + 'static {
    fn capabilities(&self) -> Capabilities;
    fn acquire<'a>(&'a self, claim: &'a Claim) -> BoxFuture<'a, Result<Acquisition, StoreError>>;
    fn renew<'a>(&'a self, claim: &'a Claim) -> BoxFuture<'a, Result<Renewal, StoreError>>;
    fn release<'a>(&'a self, claim: &'a Claim) -> BoxFuture<'a, Result<Surrender, StoreError>>;
    fn watch<'a>(&'a self, key: &'a LeaseKey) -> BoxFuture<'a, Result<Watch, StoreError>>;
    fn holder<'a>(&'a self, key: &'a LeaseKey) -> BoxFuture<'a, Result<Option<OwnerValue>, StoreError>>;
    fn reset(&self);
}

impl<S: LeaseStore> AnyStore for S {
    fn capabilities(&self) -> Capabilities {
        LeaseStore::capabilities(self)
    }

    fn acquire<'a>(&'a self, claim: &'a Claim) -> BoxFuture<'a, Result<Acquisition, StoreError>> {
        Box::pin(LeaseStore::acquire(self, claim))
    }

    fn renew<'a>(&'a self, claim: &'a Claim) -> BoxFuture<'a, Result<Renewal, StoreError>> {
        Box::pin(LeaseStore::renew(self, claim))
    }

    fn release<'a>(&'a self, claim: &'a Claim) -> BoxFuture<'a, Result<Surrender, StoreError>> {
        Box::pin(LeaseStore::release(self, claim))
    }

    fn watch<'a>(&'a self, key: &'a LeaseKey) -> BoxFuture<'a, Result<Watch, StoreError>> {
        Box::pin(LeaseStore::watch(self, key))
    }

    fn holder<'a>(&'a self, key: &'a LeaseKey) -> BoxFuture<'a, Result<Option<OwnerValue>, StoreError>> {
        Box::pin(LeaseStore::holder(self, key))
    }

    fn reset(&self) {
        LeaseStore::reset(self);
    }
}
