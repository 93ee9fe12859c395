#pragma once
#include <libpq-fe.h>
#include <unistd.h>

#ifdef __linux__
#include <sys/eventfd.h>
#else
#include <fcntl.h>
#endif

// The fields of an error report, which libpq names by macros of characters: Swift sees no such macro.
static const int counterfoil_diag_severity = PG_DIAG_SEVERITY_NONLOCALIZED;
static const int counterfoil_diag_sqlstate = PG_DIAG_SQLSTATE;
static const int counterfoil_diag_message = PG_DIAG_MESSAGE_PRIMARY;
static const int counterfoil_diag_position = PG_DIAG_STATEMENT_POSITION;
static const int counterfoil_diag_table = PG_DIAG_TABLE_NAME;
static const int counterfoil_diag_column = PG_DIAG_COLUMN_NAME;
static const int counterfoil_diag_constraint = PG_DIAG_CONSTRAINT_NAME;
static const int counterfoil_diag_function = PG_DIAG_SOURCE_FUNCTION;

/// Opens a descriptor pair that wakes a thread out of poll(2): on Linux one eventfd (both ends are
/// the same descriptor), elsewhere a pipe. Returns 0, or -1 with errno set.
static inline int counterfoil_wakeup_open(int *read_end, int *write_end) {
#ifdef __linux__
    int descriptor = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    *read_end = descriptor;
    *write_end = descriptor;
    return descriptor < 0 ? -1 : 0;
#else
    int ends[2];
    if (pipe(ends) != 0) return -1;
    for (int i = 0; i < 2; i++) {
        fcntl(ends[i], F_SETFD, FD_CLOEXEC);
        fcntl(ends[i], F_SETFL, O_NONBLOCK);
    }
    *read_end = ends[0];
    *write_end = ends[1];
    return 0;
#endif
}

// A request to cancel what a connection is doing, which outlives the connection: it may be sent from
// another thread, as it waits until the server has taken note. From libpq 17 it is encrypted as the
// connection itself is.
#ifdef LIBPQ_HAS_ASYNC_CANCEL
typedef PGcancelConn counterfoil_cancel_request;
#else
typedef PGcancel counterfoil_cancel_request;
#endif

/// Makes the request; NULL if it cannot be made.
static inline counterfoil_cancel_request *counterfoil_cancel_create(PGconn *connection) {
#ifdef LIBPQ_HAS_ASYNC_CANCEL
    return PQcancelCreate(connection);
#else
    return PQgetCancel(connection);
#endif
}

/// Sends the request, waits until the server has taken note, and frees it.
static inline void counterfoil_cancel_send(counterfoil_cancel_request *request) {
#ifdef LIBPQ_HAS_ASYNC_CANCEL
    PQcancelBlocking(request);
    PQcancelFinish(request);
#else
    char reason[256];
    PQcancel(request, reason, sizeof reason);
    PQfreeCancel(request);
#endif
}
