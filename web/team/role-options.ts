/** The roles and what each may do, as a list to choose from. */
export const roleOptions = [
  { value: 'viewer', label: 'Viewer: looks' },
  { value: 'admin', label: 'Admin: all but users and prices' },
  { value: 'owner', label: 'Owner: everything' },
]
