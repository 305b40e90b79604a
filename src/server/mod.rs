//! The server that the module runs in. All unsafe code is here, and none of the server's pointers leaves it.

mod alloc;
mod api;
mod call;
pub mod clock;
mod docs;
mod guard;
mod info;
mod key;
mod keys;
mod load;
pub mod random;
mod remembered;
mod table;
mod write;

#[cfg(not(test))]
pub use alloc::ServerAlloc;
pub use call::Call;
pub use key::{Key, Mode};
pub use keys::Keys;
