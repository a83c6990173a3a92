//! The address of a store's servers, as a person writes it: `http://user:password@one:2379,http://two:2379`.

use hyper::Uri;
use hyper::http::uri::Authority;
use percent_encoding::percent_decode_str;
use thiserror::Error;

/// The servers of one store, and as whom to ask them.
#[derive(Debug)]
pub(in crate::store) struct Address {
    /// At least one.
    pub(in crate::store) servers: Vec<Authority>,
    pub(in crate::store) user: Option<User>,
}

pub(in crate::store) struct User {
    pub(in crate::store) name: String,
    pub(in crate::store) password: String,
}

impl std::fmt::Debug for User {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("User").field("name", &self.name).finish_non_exhaustive()
    }
}

/// Never with the address itself, which may have a password.
#[derive(Debug, Error, PartialEq, Eq)]
pub(in crate::store) enum AddressError {
    #[error("server {number} is no address")]
    Unreadable { number: usize },
    #[error("server {number} is not reached by http://")]
    Scheme { number: usize },
    #[error("server {number} has a path, and only a host and a port are asked for")]
    Path { number: usize },
    #[error("server {number} has another user than the ones before it")]
    User { number: usize },
}

impl Address {
    /// Reads addresses that commas part. User and password, percent-encoded, may stand in one or in all of them.
    pub(in crate::store) fn read(text: &str) -> Result<Self, AddressError> {
        let mut address = Self { servers: Vec::new(), user: None };
        for (before, part) in text.split(',').enumerate() {
            let number = before + 1;
            let uri: Uri = part.trim().parse().map_err(|_| AddressError::Unreadable { number })?;
            if uri.scheme_str() != Some("http") {
                return Err(AddressError::Scheme { number });
            }
            if !matches!(uri.path(), "" | "/") || uri.query().is_some() {
                return Err(AddressError::Path { number });
            }
            let authority = uri.authority().ok_or(AddressError::Unreadable { number })?.as_str();
            let (user, server) =
                authority.rsplit_once('@').map_or((None, authority), |(user, server)| (Some(user), server));
            let server: Authority = server.parse().map_err(|_| AddressError::Unreadable { number })?;
            // A port beyond all ports is taken for none there.
            if server.port_u16().is_none() && server.as_str() != server.host() {
                return Err(AddressError::Unreadable { number });
            }
            address.servers.push(server);
            let Some(user) = user else { continue };
            let (name, password) = user.split_once(':').unwrap_or((user, ""));
            let user = User { name: decoded(name), password: decoded(password) };
            let other = address.user.as_ref().is_some_and(|known| known != &user);
            if other {
                return Err(AddressError::User { number });
            }
            address.user = Some(user);
        }
        Ok(address)
    }
}

impl PartialEq for User {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name && self.password == other.password
    }
}

fn decoded(text: &str) -> String {
    percent_decode_str(text).decode_utf8_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read() {
        let one = Address::read("http://127.0.0.1:2379").unwrap();
        assert_eq!((one.servers.len(), one.user), (1, None));
        let three = Address::read("http://me:p%40%3A%2Fss@a:1, http://[::1]:2/,http://c").unwrap();
        let servers: Vec<_> = three.servers.iter().map(Authority::as_str).collect();
        assert_eq!(servers, ["a:1", "[::1]:2", "c"]);
        let user = three.user.unwrap();
        assert_eq!((user.name.as_str(), user.password.as_str()), ("me", "p@:/ss"));
        assert!(!format!("{user:?}").contains("ss"));
    }

    #[test]
    fn other_addresses_are_refused() {
        for (text, number) in [("", 1), ("no sense", 1), ("http://a:1,", 2), ("http://a:99999", 1)] {
            assert_eq!(Address::read(text).unwrap_err(), AddressError::Unreadable { number }, "{text}");
        }
        for text in ["https://a:1", "a:1", "127.0.0.1:2379"] {
            let error = Address::read(text).unwrap_err();
            assert!(!matches!(error, AddressError::Path { .. }), "{text}: {error}");
        }
        assert_eq!(Address::read("http://a/b").unwrap_err(), AddressError::Path { number: 1 });
        let two = "http://me:1@a,http://me:2@b";
        assert_eq!(Address::read(two).unwrap_err(), AddressError::User { number: 2 });
    }
}
