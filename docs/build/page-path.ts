import path from 'node:path'

/** Returns the path of a page from the root of the site. `README.md` is the index of its folder. */
export function pagePathOf(file: string): string {
  return file.replace(/README\.md$/u, 'index.md').replace(/\.md$/u, '.html')
}

/** Returns `target` (a path from the root of the site) as a link relative to the page of `file`. */
export function relativeLink(file: string, target: string): string {
  return path.posix.relative(path.posix.dirname(file), target)
}

/** Returns whether a link leads outside the repository. */
export function isExternalLink(href: string): boolean {
  return /^[a-z]+:/u.test(href)
}
