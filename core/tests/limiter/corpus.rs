//! What the fuzzer found worth keeping: fuzz/corpus/member.

#[path = "../../../fuzz/properties/member.rs"]
mod member;

#[test]
fn a_member_that_decodes_is_spelled_the_same() {
    let corpus = concat!(env!("CARGO_MANIFEST_DIR"), "/../fuzz/corpus/member");
    let mut files = 0;
    for file in std::fs::read_dir(corpus).unwrap() {
        member::holds(&std::fs::read(file.unwrap().path()).unwrap());
        files += 1;
    }
    assert!(files >= 10, "{files} files in {corpus}");
}
