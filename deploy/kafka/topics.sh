#!/usr/bin/env bash
# Creates the store's topics on Apache Kafka, with Kafka's own tool. Existing topics stay as they are.
#
#   KAFKA_BOOTSTRAP_SERVERS=host:9092 [KAFKA_TOPIC_PARTITIONS=8] [KAFKA_TOPIC_REPLICATION=3]
#       [KAFKA_MIN_INSYNC_REPLICAS=2] topics.sh
#
# The services create missing topics themselves. This script is for brokers where they may not. A test
# compares the table below with Shared/EventTypes/Events/Topics.swift.
set -euo pipefail

servers=${KAFKA_BOOTSTRAP_SERVERS:?set it to the broker\'s addresses: host:port,host:port}
partitions=${KAFKA_TOPIC_PARTITIONS:-8}
replication=${KAFKA_TOPIC_REPLICATION:-1}
insync=${KAFKA_MIN_INSYNC_REPLICAS:-1}

tool=$(command -v kafka-topics.sh || command -v kafka-topics || echo /opt/kafka/bin/kafka-topics.sh)
[[ -x $tool ]] || { echo "topics.sh: there is no kafka-topics.sh in PATH or /opt/kafka/bin" >&2; exit 1; }

# topic NAME CLEANUP-POLICY [PARTITIONS]. No event is deleted for its age, because a consumer may be down
# for longer.
topic() {
    "$tool" --bootstrap-server "$servers" --create --if-not-exists --topic "$1" \
        --partitions "${3:-$partitions}" --replication-factor "$replication" --config cleanup.policy="$2" \
        --config retention.ms=-1 --config retention.bytes=-1 --config min.insync.replicas="$insync"
}

topic catalog.products compact
topic payments.transactions delete
topic payments.purchasing delete
topic receipts.issued delete
topic fulfillment.transactions delete
topic fulfillment.queues delete
topic store.clock delete 1

# Events that a consumer cannot apply are published to these topics, for people. No consumer applies events
# of fulfillment.queues and store.clock.
topic catalog.products.dead-letters delete
topic payments.transactions.dead-letters delete
topic payments.purchasing.dead-letters delete
topic receipts.issued.dead-letters delete
topic fulfillment.transactions.dead-letters delete
