diesel::table! {
    exports (id) {
        id -> Int8,
        report -> Text,
        state -> Text,
        attempt -> Int8,
        started_at -> Nullable<Timestamptz>,
        url -> Nullable<Text>,
    }
}
