import { Kbd, UnstyledButton, VisuallyHidden } from '@mantine/core'
import { useHotkeys } from '@mantine/hooks'
import { IconSearch } from '@tabler/icons-react'
import { lazy, Suspense, useState } from 'react'

const LazySearchDialog = lazy(async () => ({
  default: (await import('./search-dialog.tsx')).SearchDialog,
}))

/** Opens the search of pages, people, keys, calls and the documentation. Ctrl K, or ⌘ K, does the same anywhere. */
export function SearchButton() {
  const [isOpen, setIsOpen] = useState(false)
  useHotkeys([['mod+K', () => setIsOpen(true)]], [])
  return (
    <>
      <UnstyledButton
        className="fg-search-button"
        aria-keyshortcuts="Control+K Meta+K"
        onClick={() => setIsOpen(true)}
      >
        <IconSearch size={16} stroke={1.6} aria-hidden />
        <VisuallyHidden>Search</VisuallyHidden>
        <Kbd size="xs">Ctrl K</Kbd>
      </UnstyledButton>
      {isOpen && (
        <Suspense>
          <LazySearchDialog onClose={() => setIsOpen(false)} />
        </Suspense>
      )}
    </>
  )
}
