"""Ports that no request of a workflow ever reaches: what listens there takes commands, mail or data."""

from __future__ import annotations

_GROUPS: dict[str, tuple[int, ...]] = {
    "an old system service": (
        1, 7, 9, 11, 13, 15, 17, 19, 37, 43, 77, 79, 87, 95, 101, 102, 103, 104, 113, 117, 119, 123, 135,
        427, 526, 530, 531, 532, 540, 556, 563, 601, 1719, 1720, 1723, 3659, 4045, 6566, 10080,
    ),
    "a remote shell": (22, 23, 512, 513, 514, 5985, 5986),
    "a remote desktop": (3389, 5900, 6000),
    "a file transfer": (20, 21, 69, 115, 989, 990),
    "a mail server": (25, 109, 110, 143, 465, 587, 993, 995, 4190),
    "a name or directory service": (42, 53, 389, 636),
    "a file server": (111, 137, 138, 139, 445, 548, 2049),
    "a router or its management": (161, 162, 179),
    "a printer": (515, 9100),
    "a telephone or chat server": (554, 5060, 5061, 6665, 6666, 6667, 6668, 6669, 6679, 6697),
    "Docker": (2375, 2376, 2377),
    "Kubernetes": (2379, 2380, 6443, 10250, 10255),
    "a message broker": (1883, 2181, 5672, 8883, 9092),
    "a database": (
        1433, 1434, 1521, 3306, 5432, 5984, 6379, 9042, 9200, 9300, 11211, 26257, 27017, 27018, 27019, 33060,
        50000,
    ),
}  # fmt: skip

CLOSED_PORTS: dict[int, str] = {port: what for what, ports in _GROUPS.items() for port in ports}
