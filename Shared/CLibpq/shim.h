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

/// Asks the server to cancel what a connection is doing, and waits until it has been told. Returns
/// 1 if it was told. From libpq 17 the request is encrypted as the connection itself is.
static inline int counterfoil_cancel(PGconn *connection) {
#ifdef LIBPQ_HAS_ASYNC_CANCEL
    PGcancelConn *request = PQcancelCreate(connection);
    int told = request == NULL ? 0 : PQcancelBlocking(request);
    PQcancelFinish(request);
    return told;
#else
    char reason[256];
    PGcancel *request = PQgetCancel(connection);
    int told = request == NULL ? 0 : PQcancel(request, reason, sizeof reason);
    PQfreeCancel(request);
    return told;
#endif
}
