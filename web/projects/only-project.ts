/** Returns the project of an account that has only one; with several, the user must choose. */
export function onlyProject<Project>(projects: readonly Project[]): Project | undefined {
  return projects.length === 1 ? projects[0] : undefined
}
