//! A hash of a key's name, for tables of fixed size in which a collision does no harm.

const FACTOR: u64 = 0x517c_c1b7_2722_0a95;

/// Multiply and rotate, eight bytes at a time. All bits of the result know of every byte.
pub fn hash(key: &[u8]) -> u64 {
    let mix =
        |hash: u64, word: [u8; 8]| (hash.rotate_left(5) ^ u64::from_le_bytes(word)).wrapping_mul(FACTOR);
    let mut words = key.chunks_exact(8);
    let hash = words.by_ref().filter_map(|word| word.try_into().ok()).fold(key.len() as u64, mix);
    let mut last = [0; 8];
    last.iter_mut().zip(words.remainder()).for_each(|(to, from)| *to = *from);
    let hash = mix(hash, last);
    // A product's low bits know only of its factors' low bits.
    (hash ^ (hash >> 32)).wrapping_mul(FACTOR).rotate_left(26)
}

#[cfg(test)]
mod tests {
    use super::hash;
    use std::collections::HashSet;

    /// 20,000 keys, such as people have, in 4,096 places: by chance all but 31 are taken.
    #[test]
    fn it_scatters_the_keys_that_people_have() {
        let names: [fn(usize) -> String; 5] = [
            |nth| format!("key:{nth}"),
            |nth| format!("k:{nth:012}"),
            |nth| format!("10.0.{}.{}", nth / 256, nth % 256),
            |nth| format!("user:{nth}:login"),
            |nth| format!("{nth}"),
        ];
        for name in names {
            let places: HashSet<u64> = (0..20_000).map(|nth| hash(name(nth).as_bytes()) % 4_096).collect();
            assert!(places.len() > 4_000, "{}: {}", name(0), places.len());
        }
    }
}
