use super::*;

fn parse(line: &str) -> Result<(Request, bool), Error> {
    check(line.split(' ').map(str::as_bytes))
}

#[test]
fn requests() {
    let plain = |pairs: &[(i64, u64)]| {
        let windows: Vec<_> = pairs.iter().map(|&(length_us, limit)| Window { length_us, limit }).collect();
        Request::new(&windows).unwrap()
    };
    let minute = plain(&[(60_000_000, 100)]);
    let two = plain(&[(1_000_000, 2), (60_000_000, 5)]);
    let table = [
        ("60 100", minute),
        ("60 0", plain(&[(60_000_000, 0)])),
        ("1m 9007199254740991", plain(&[(60_000_000, (1 << 53) - 1)])),
        ("1 2 60 5", two),
        ("1 2 1 2", plain(&[(1_000_000, 2), (1_000_000, 2)])),
        ("60 100 COST 7", Request { cost: 7, ..minute }),
        ("60 100 cost 9007199254740991", Request { cost: (1 << 53) - 1, ..minute }),
        ("60 100 RESOLUTION 60", Request { resolution_us: Some(60_000_000), ..minute }),
        ("1 2 60 5 resolution 1ms force", Request { resolution_us: Some(1_000), force: true, ..two }),
        ("60 100 ID a", Request { id: Id::new(b"a"), ..minute }),
        ("60 100 id FORCE FORCE", Request { id: Id::new(b"FORCE"), force: true, ..minute }),
        ("60 100 WithQuota", Request { with_standings: true, ..minute }),
    ];
    for (line, request) in table {
        assert_eq!(parse(line), Ok((request, false)), "{line}");
    }
    let all = Request { force: true, with_standings: true, cost: 3, ..minute };
    assert_eq!(parse("60 100 RECEIPT FORCE WITHQUOTA COST 3"), Ok((all, true)));
    assert_eq!(minute.windows.longest_us(), minute.windows.shortest_us());
    assert_eq!((two.windows.shortest_us(), two.windows.longest_us()), (1_000_000, 60_000_000));
}

#[test]
fn what_is_wrong_with_a_call() {
    let table = [
        ("", Error::Window),
        ("60", Error::Arity),
        ("60 1 2", Error::Arity),
        ("60 1 abc", Error::UnknownCheckOption),
        ("60 1 -1 5", Error::Window),
        ("60 1  5", Error::Window),
        ("abc 1", Error::Window),
        ("60 -1", Error::Limit),
        ("60 1.5", Error::Limit),
        ("60 01", Error::Limit),
        ("60 +1", Error::Limit),
        ("60 ", Error::Limit),
        ("60 9007199254740992", Error::Limit),
        ("60 9223372036854775808", Error::Limit),
        ("60 99999999999999999999999", Error::Limit),
        ("60 1 COST", Error::Arity),
        ("60 1 COST 0", Error::Cost),
        ("60 1 COST -1", Error::Cost),
        ("60 1 COST 9007199254740992", Error::Cost),
        ("60 1 COST abc", Error::Cost),
        ("60 1 COST 1 COST 1", Error::RepeatedOption),
        ("60 1 FORCE force", Error::RepeatedOption),
        ("60 1 RESOLUTION 1 RESOLUTION 1", Error::RepeatedOption),
        ("60 1 RECEIPT RECEIPT", Error::RepeatedOption),
        ("60 1 WITHQUOTA WITHQUOTA", Error::RepeatedOption),
        ("60 1 RESOLUTION", Error::Arity),
        ("60 1 RESOLUTION 0", Error::Resolution),
        ("60 1 RESOLUTION 61", Error::Resolution),
        ("60 1 1 1 RESOLUTION 2", Error::Resolution),
        ("60 1 RESOLUTION 1 RECEIPT", Error::ResolutionWithReceipt),
        ("60 1 RECEIPT RESOLUTION 1", Error::ResolutionWithReceipt),
        ("60 1 ID", Error::Arity),
        ("60 1 ID ", Error::Id),
        ("60 1 ID a id a", Error::RepeatedOption),
        ("60 1 RESOLUTION 1 ID a", Error::ResolutionWithId),
        ("60 1 COST 1 60 1", Error::UnknownCheckOption),
        ("60 1 FORCED", Error::UnknownCheckOption),
        ("1 1 2 2 3 3 4 4 5 5 6 6 7 7 8 8 9 9", Error::TooManyWindows),
    ];
    for (line, error) in table {
        assert_eq!(parse(line), Err(error), "{line:?}");
    }
    assert_eq!(check(std::iter::empty()), Err(Error::Arity));
    assert!(parse("1 1 2 2 3 3 4 4 5 5 6 6 7 7 8 8").is_ok());
}

#[test]
fn peek_takes_cost_and_withquota_only() {
    let parse = |line: &str| peek(line.split(' ').map(str::as_bytes));
    assert_eq!(
        parse("60 5 2 1 COST 3 WITHQUOTA").map(|request| (request.cost, request.with_standings)),
        Ok((3, true))
    );
    for option in ["FORCE", "RECEIPT", "RESOLUTION 1", "NO"] {
        assert_eq!(parse(&format!("60 5 {option}")), Err(Error::UnknownPeekOption), "{option}");
    }
}

#[test]
fn reservations() {
    let parse = |line: &str| reserve(line.split(' ').map(str::as_bytes));
    let two = [Window { length_us: 1_000_000, limit: 10 }, Window { length_us: 60_000_000, limit: 600 }];
    let two = Request::new(&two).unwrap();
    let table = [
        ("0 1 10 60 600", Ok((two, 0))),
        ("60 1 10 60 600", Ok((two, 60_000_000))),
        ("1m 1 10 60 600 cost 2 ID a", Ok((Request { cost: 2, id: Id::new(b"a"), ..two }, 60_000_000))),
        ("2.5 1 10 60 600", Ok((two, 2_500_000))),
        ("1ms 1 10 60 600", Ok((two, 1_000))),
        ("61 1 10 60 600", Err(Error::MaxWait)),
        ("60001ms 60 600 1 10", Err(Error::MaxWait)),
        ("00 1 10", Err(Error::MaxWait)),
        ("-1 1 10", Err(Error::MaxWait)),
        (" 1 10", Err(Error::MaxWait)),
        ("COST 1 10", Err(Error::MaxWait)),
        ("0", Err(Error::Arity)),
        ("0 1", Err(Error::Arity)),
        ("0 x 10", Err(Error::Window)),
        ("0 1 x", Err(Error::Limit)),
        ("0 1 10 COST 0", Err(Error::Cost)),
        ("0 1 10 ID", Err(Error::Arity)),
        ("0 1 10 ID a ID a", Err(Error::RepeatedOption)),
        ("0 1 10 FORCE", Err(Error::UnknownReserveOption)),
        ("0 1 10 RESOLUTION 1", Err(Error::UnknownReserveOption)),
        ("0 1 10 RECEIPT", Err(Error::UnknownReserveOption)),
        ("0 1 10 WITHQUOTA", Err(Error::UnknownReserveOption)),
    ];
    for (line, expected) in table {
        assert_eq!(parse(line), expected, "{line:?}");
    }
    assert_eq!(reserve(std::iter::empty()), Err(Error::Arity));
}

#[test]
fn refunds() {
    let parse = |line: &str| refund(line.split(' ').map(str::as_bytes));
    assert_eq!(
        parse("1784000000000000"),
        Ok(Refund { of: Admitted::Receipt(1_784_000_000_000_000), units: None })
    );
    assert_eq!(parse("5 cost 3"), Ok(Refund { of: Admitted::Receipt(5), units: Some(3) }));
    assert_eq!(parse("id cost"), Ok(Refund { of: Admitted::Id(Id::new(b"cost").unwrap()), units: None }));
    let table = [
        ("ID", Error::Arity),
        ("ID ", Error::Id),
        ("0", Error::Receipt),
        ("-5", Error::Receipt),
        ("5.0", Error::Receipt),
        ("", Error::Receipt),
        ("9223372036854775808", Error::Receipt),
        ("5 COST", Error::Arity),
        ("5 COST 0", Error::Cost),
        ("5 COST 1 COST 1", Error::RepeatedOption),
        ("5 FORCE", Error::UnknownRefundOption),
        ("5 6", Error::UnknownRefundOption),
    ];
    for (line, error) in table {
        assert_eq!(parse(line), Err(error), "{line:?}");
    }
    assert_eq!(refund(std::iter::empty()), Err(Error::Arity));
}

#[path = "../../../fuzz/properties/arguments.rs"]
mod property;

#[test]
fn what_the_fuzzer_kept() {
    let corpus = concat!(env!("CARGO_MANIFEST_DIR"), "/fuzz/corpus/arguments");
    let mut files = 0;
    for file in std::fs::read_dir(corpus).unwrap() {
        property::holds(&std::fs::read(file.unwrap().path()).unwrap());
        files += 1;
    }
    assert!(files >= 10, "{files} files in {corpus}");
}

#[test]
fn logs() {
    let parse = |line: &str| log(line.split(' ').filter(|word| !word.is_empty()).map(str::as_bytes));
    let table = [
        ("", Ok(10)),
        ("COUNT 1", Ok(1)),
        ("count 1000", Ok(1_000)),
        ("COUNT 0", Err(Error::LogCount)),
        ("COUNT 1001", Err(Error::LogCount)),
        ("COUNT x", Err(Error::LogCount)),
        ("COUNT", Err(Error::Arity)),
        ("COUNT 1 COUNT 1", Err(Error::RepeatedOption)),
        ("10", Err(Error::UnknownLogOption)),
    ];
    for (line, expected) in table {
        assert_eq!(parse(line), expected, "{line:?}");
    }
}

#[test]
fn several_keys() {
    let parse = |line: &str| mcheck(line.split(' ').map(str::as_bytes));
    let plain = |pairs: &[(i64, u64)]| {
        let windows: Vec<_> = pairs.iter().map(|&(length_us, limit)| Window { length_us, limit }).collect();
        Request::new(&windows).unwrap()
    };
    let several = parse("3 a 1 2 b 60 5 a 60 9 COST 3 id COST").unwrap();
    let common = |request| Request { cost: 3, id: Id::new(b"COST"), ..request };
    assert_eq!(
        several.requests,
        [plain(&[(1_000_000, 2), (60_000_000, 9)]), plain(&[(60_000_000, 5)])].map(common)
    );
    assert_eq!((several.positions, several.triples), (vec![2, 5], vec![(0, 0), (1, 0), (0, 1)]));
    let all = parse("1 a 1 2 WITHQUOTA FORCE").unwrap().requests[0];
    assert_eq!(all, Request { force: true, with_standings: true, ..plain(&[(1_000_000, 2)]) });
    let table = [
        ("", Error::KeyCount),
        ("0 a 1 1", Error::KeyCount),
        ("17 a 1 1", Error::KeyCount),
        ("1", Error::Arity),
        ("1 a", Error::Arity),
        ("1 a 1", Error::Arity),
        ("2 a 1 1", Error::Arity),
        ("1 a x 1", Error::Window),
        ("1 a 1 x", Error::Limit),
        ("1 a 1 1 2 2", Error::UnknownMcheckOption),
        ("1 a 1 1 RECEIPT", Error::UnknownMcheckOption),
        ("1 a 1 1 RESOLUTION 1", Error::UnknownMcheckOption),
        ("1 a 1 1 ID", Error::Arity),
        ("1 a 1 1 ID ", Error::Id),
        ("1 a 1 1 COST 0", Error::Cost),
        ("1 a 1 1 COST 1 cost 1", Error::RepeatedOption),
        ("9 a 1 1 a 2 2 a 3 3 a 4 4 a 5 5 a 6 6 a 7 7 a 8 8 a 9 9", Error::TooManyWindows),
    ];
    for (line, error) in table {
        assert_eq!(parse(line), Err(error), "{line:?}");
    }
    assert_eq!(mcheck(std::iter::empty()), Err(Error::Arity));
}
