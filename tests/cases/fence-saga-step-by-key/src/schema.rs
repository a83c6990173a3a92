diesel::table! {
    saga_steps (saga, number) {
        saga -> Uuid,
        number -> Int4,
        action -> Text,
        state -> Text,
        result -> Nullable<Jsonb>,
        claimed_by -> Nullable<Uuid>,
        claimed_until -> Nullable<Timestamptz>,
    }
}
