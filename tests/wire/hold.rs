// SPDX-License-Identifier: Apache-2.0
//! temporary
use super::ground;
#[tokio::test(flavor = "multi_thread")]
async fn hold() {
    if std::env::var("WEIR_HOLD").is_err() {
        return;
    }
    let (_world, doors, _file) = ground::open().await;
    std::fs::write("/tmp/wire/port", format!("{} {}", doors.postgres.port(), doors.http.port())).unwrap();
    tokio::time::sleep(std::time::Duration::from_secs(3000)).await;
}
