diesel::table! {
    meters (id) {
        id -> Int8,
        serial -> Text,
        reading -> Int8,
        fencing_token -> Int4,
        location -> Nullable<Text>,
    }
}
