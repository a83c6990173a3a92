diesel::table! {
    pages (id) {
        id -> Int8,
        title -> Text,
        body -> Text,
        revision -> Int8,
    }
}
