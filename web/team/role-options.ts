/** The roles with their permissions, as options of a select field. */
export const roleOptions = [
  { value: 'viewer', label: 'Viewer: read-only' },
  { value: 'admin', label: 'Admin: everything except users and prices' },
  { value: 'owner', label: 'Owner: everything' },
]
