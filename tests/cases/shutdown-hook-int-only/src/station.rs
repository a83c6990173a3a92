use std::time::Duration;

use postgres::{Client, Error};
use uuid::Uuid;

pub const RENEW_EVERY: Duration = Duration::from_secs(15);

pub struct Lease {
    station: String,
    daemon: Uuid,
}

impl Lease {
    pub fn station(&self) -> &str {
        &self.station
    }
}

pub fn take(db: &mut Client, station: &str) -> Result<Option<Lease>, Error> {
    let daemon = Uuid::new_v4();
    let n = db.execute(
        "INSERT INTO station_lease (station, daemon, ends)
         VALUES ($1, $2, now() + interval '1 minute')
         ON CONFLICT (station) DO UPDATE SET daemon = excluded.daemon, ends = excluded.ends
          WHERE station_lease.ends < now()",
        &[&station, &daemon],
    )?;
    Ok((n == 1).then(|| Lease {
        station: station.to_owned(),
        daemon,
    }))
}

pub fn extend(db: &mut Client, lease: &Lease) -> Result<bool, Error> {
    let n = db.execute(
        "UPDATE station_lease SET ends = now() + interval '1 minute' WHERE station = $1 AND daemon = $2",
        &[&lease.station, &lease.daemon],
    )?;
    Ok(n == 1)
}

pub fn leave(db: &mut Client, lease: &Lease) -> Result<bool, Error> {
    let n = db.execute(
        "DELETE FROM station_lease WHERE station = $1 AND daemon = $2",
        &[&lease.station, &lease.daemon],
    )?;
    Ok(n == 1)
}
