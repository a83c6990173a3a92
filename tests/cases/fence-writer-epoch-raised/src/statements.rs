pub(crate) static ACQUIRE: &str = "
    INSERT INTO writer_leases AS l (name, holder, lease_epoch, expires_at)
    VALUES ($1, $2, 1, now() + interval '15 seconds')
    ON CONFLICT (name) DO UPDATE
       SET holder = EXCLUDED.holder,
           lease_epoch = l.lease_epoch + 1,
           expires_at = EXCLUDED.expires_at
     WHERE l.expires_at < now()
    RETURNING lease_epoch";

pub(crate) static RENEW: &str = "
    UPDATE writer_leases
       SET expires_at = now() + interval '15 seconds'
     WHERE name = $1 AND holder = $2 AND lease_epoch = $3";

pub(crate) static CHECK: &str = "
    SELECT lease_epoch FROM writer_leases
     WHERE name = $1 AND lease_epoch = $2
       FOR SHARE";

pub(crate) static STORE: &str = "
    INSERT INTO projections (stream, position, body)
    VALUES ($1, $2, $3)
    ON CONFLICT (stream) DO UPDATE
       SET position = EXCLUDED.position, body = EXCLUDED.body";
