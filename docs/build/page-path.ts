import path from 'node:path'

/** Where a page stands in the site, from its root: `README.md` is the index of its folder. */
export function pagePathOf(file: string): string {
  return file.replace(/README\.md$/u, 'index.md').replace(/\.md$/u, '.html')
}

/** The address of `target` (from the site's root) as a link on the page of `file` writes it. */
export function relativeLink(file: string, target: string): string {
  return path.posix.relative(path.posix.dirname(file), target)
}

/** An address that leaves the repository. */
export function isExternalLink(href: string): boolean {
  return /^[a-z]+:/u.test(href)
}
