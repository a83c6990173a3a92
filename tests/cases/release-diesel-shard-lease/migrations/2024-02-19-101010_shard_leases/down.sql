DROP TABLE shard_leases;
