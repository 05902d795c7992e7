"""Other distributions with a package called `kernels`, as Hugging Face's is."""


def other_kernels() -> list[str]:
    """Name each, a sentence with the remedy."""
    from importlib.metadata import packages_distributions  # 60 ms that few need

    brought = packages_distributions().get("kernels", ())
    return [
        f"The distribution {name} brings a package called kernels as well: "
        "install this program into an environment of its own."
        for name in sorted(set(brought) - {"filter-workbench"})
    ]
