from support.cli.fixtures import fresh, runs, shop, team

__all__ = ["fresh", "runs", "shop", "team"]
