macro_rules! if_mine {
    ($then:literal) => {
        concat!(
            "if redis.call('GET', KEYS[1]) == ARGV[1] then return ",
            $then,
            " else return 0 end"
        )
    };
}

pub const DELETE: &str = if_mine!("redis.call('UNLINK', KEYS[1])");
pub const PROLONG: &str = if_mine!("redis.call('PEXPIRE', KEYS[1], ARGV[2])");
