diesel::table! {
    greenhouses (id) {
        id -> Int8,
        name -> Text,
        shade -> Int2,
        fence_epoch -> Nullable<Int8>,
    }
}
