//! table.json for this client: what each answer must be.

use redis::{RedisResult, Value};
use serde_json::Value as Json;

/// Tests all cases. `run` answers a reply for each command of a batch.
pub fn test_all(client: &str, run: impl FnMut(&[Vec<String>]) -> Vec<RedisResult<Value>>) {
    test_batches(client, batches, run);
}

/// As [`test_all`]; no command follows one that fails.
pub fn test_all_errors_alone(client: &str, run: impl FnMut(&[Vec<String>]) -> Vec<RedisResult<Value>>) {
    fn batches_cut_at_errors(rows: &[Json]) -> Vec<Vec<&Json>> {
        let is_error = |row: &Json| row[1].as_str().is_some_and(|want| want.starts_with('!'));
        let mut all = Vec::new();
        for batch in batches(rows) {
            all.extend(batch.chunk_by(|a, b| !is_error(a) && !is_error(b)).map(<[_]>::to_vec));
        }
        all
    }
    test_batches(client, batches_cut_at_errors, run);
}

fn test_batches(
    client: &str,
    batches: fn(&[Json]) -> Vec<Vec<&Json>>,
    mut run: impl FnMut(&[Vec<String>]) -> Vec<RedisResult<Value>>,
) {
    let table: Json = serde_json::from_str(include_str!("../../table.json")).expect("table.json is JSON");
    for case in table["cases"].as_array().expect("cases") {
        let name = case["case"].as_str().expect("a name");
        let key = format!("clé:{client}:{name}");
        let (mut receipt, mut failed) = (String::new(), Vec::new());
        for batch in batches(case["rows"].as_array().expect("rows")) {
            let commands: Vec<_> = batch.iter().map(|row| words(&row[0], &key, &receipt)).collect();
            let replies = run(&commands);
            if replies.len() != batch.len() {
                failed.push(format!("{} replies to {} commands: {replies:?}", replies.len(), batch.len()));
            }
            for (row, got) in batch.iter().zip(&replies) {
                if !fits(&row[1], got) {
                    failed.push(format!("{}: {got:?}, want {}", row[0], row[1]));
                }
                if let ("receipt", Ok(Value::Int(number))) = (row[1].as_str().unwrap_or_default(), got) {
                    receipt = number.to_string();
                }
                if let ("receipt", Ok(Value::Array(array))) = (row[1][0].as_str().unwrap_or_default(), got) {
                    receipt = redis::from_redis_value_ref(&array[0]).expect("a receipt");
                }
            }
        }
        assert!(failed.is_empty(), "{client}: {name}: {}", failed.join("; "));
    }
}

/// The rows, cut before each that needs a receipt: those between can go to the server together.
fn batches(rows: &[Json]) -> Vec<Vec<&Json>> {
    let mut all = vec![Vec::new()];
    for row in rows {
        if row[0].as_str().is_some_and(|line| line.contains("$receipt")) {
            all.push(Vec::new());
        }
        all.last_mut().expect("there is one").push(row);
    }
    all.retain(|batch| !batch.is_empty());
    all
}

fn words(line: &Json, key: &str, receipt: &str) -> Vec<String> {
    let word = |word| match word {
        "k" => key.to_owned(),
        "$receipt" => receipt.to_owned(),
        other => other.to_owned(),
    };
    line.as_str().expect("a command").split(' ').map(word).collect()
}

/// Whether the answer is what the table says.
fn fits(want: &Json, got: &RedisResult<Value>) -> bool {
    match (want, got) {
        (Json::Array(wants), Ok(Value::Array(values))) => {
            wants.len() == values.len()
                && wants.iter().zip(values).all(|(want, value)| fits(want, &Ok(value.clone())))
        }
        (Json::Number(number), Ok(Value::Int(value))) => number.as_i64() == Some(*value),
        (Json::String(text), Ok(Value::Int(value))) if text == "receipt" => {
            (1 << 50..1 << 53).contains(value)
        }
        (Json::String(text), Ok(Value::Int(value))) => {
            let time: Option<i64> = text.strip_prefix('~').and_then(|time| time.parse().ok());
            time.is_some_and(|time| (time - 20_000..=time + 1).contains(value))
        }
        (Json::String(text), Err(error)) => {
            text.strip_prefix('!').is_some_and(|text| error.to_string().contains(text))
        }
        _ => false,
    }
}
