//! A hash of a key's name, for tables of fixed size in which a collision does no harm.

/// Multiply and rotate, eight bytes at a time.
pub fn hash(key: &[u8]) -> u64 {
    let mix = |hash: u64, word: [u8; 8]| {
        (hash.rotate_left(5) ^ u64::from_le_bytes(word)).wrapping_mul(0x517c_c1b7_2722_0a95)
    };
    let mut words = key.chunks_exact(8);
    let hash = words.by_ref().filter_map(|word| word.try_into().ok()).fold(key.len() as u64, mix);
    let mut last = [0; 8];
    last.iter_mut().zip(words.remainder()).for_each(|(to, from)| *to = *from);
    let hash = mix(hash, last);
    hash ^ (hash >> 32) // the low bits, which choose the chain, know little of the high ones
}
