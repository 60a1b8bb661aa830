import { Spotlight, spotlight } from '@mantine/spotlight'
import '@mantine/spotlight/styles.css'
import { useDebouncedValue } from '@mantine/hooks'
import { IconSearch } from '@tabler/icons-react'
import { useNavigate } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { sections } from '../layout/navigation.tsx'
import { useSearchResults, type SearchResult } from './use-search-results.ts'

const searchDelayMs = 200

/** Finds pages, people, API keys, calls and sections of the documentation, and opens them. */
export function SearchDialog({ onClose }: { readonly onClose: () => void }) {
  const navigate = useNavigate()
  const [text, setText] = useState('')
  const [searched] = useDebouncedValue(text.trim(), searchDelayMs)
  const { groups, isFetching } = useSearchResults(searched)
  useEffect(() => {
    spotlight.open()
  }, [])
  const open = (result: SearchResult): void => {
    if ('to' in result) void navigate({ to: result.to, search: result.search })
    else window.open(result.href, '_blank', 'noreferrer')
  }
  const found = [{ group: 'Pages', results: pagesNamed(text.trim()) }, ...groups].filter(
    ({ results }) => results.length > 0,
  )
  return (
    <Spotlight.Root
      query={text}
      onQueryChange={setText}
      onSpotlightClose={onClose}
      shortcut={null}
      transitionProps={{ duration: 0 }}
      overlayProps={{ blur: 0 }}
      attributes={{ content: { 'aria-label': 'Search' } }}
      scrollable
    >
      <Spotlight.Search
        aria-label="Search"
        placeholder="A page, a person, an API key, a request id or a topic"
        leftSection={<IconSearch size={16} aria-hidden />}
      />
      <Spotlight.ActionsList>
        {found.map(({ group, results }) => (
          <Spotlight.ActionsGroup key={group} label={group}>
            {results.map((result) => (
              <Spotlight.Action
                key={result.id}
                label={result.label}
                description={result.description}
                onClick={() => open(result)}
              />
            ))}
          </Spotlight.ActionsGroup>
        ))}
        {found.length === 0 && (
          <Spotlight.Empty>{isFetching ? 'Searching…' : 'Nothing found'}</Spotlight.Empty>
        )}
      </Spotlight.ActionsList>
    </Spotlight.Root>
  )
}

function pagesNamed(text: string): readonly SearchResult[] {
  const pages = sections.flatMap(({ name, links }) =>
    links.map(({ to, text: label }) => ({ id: to, label, description: name, to, search: {} })),
  )
  return pages.filter(({ label }) => label.toLowerCase().includes(text.toLowerCase()))
}
