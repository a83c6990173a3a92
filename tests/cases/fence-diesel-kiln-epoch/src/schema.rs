diesel::table! {
    kilns (id) {
        id -> Unsigned<Bigint>,
        degrees -> Integer,
        minutes -> Integer,
        epoch -> Bigint,
    }
}
