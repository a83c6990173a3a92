pub mod courier;
mod parcel;
