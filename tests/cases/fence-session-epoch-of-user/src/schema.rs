diesel::table! {
    users (id) {
        id -> Int8,
        mail -> Text,
        password_hash -> Text,
        token_generation -> Int8,
    }
}
