diesel::table! {
    recipient (id) {
        id -> Int8,
        campaign_id -> Int8,
        email -> Text,
        sent -> Bool,
        claim -> Nullable<Uuid>,
        locked_until -> Nullable<Timestamptz>,
    }
}
