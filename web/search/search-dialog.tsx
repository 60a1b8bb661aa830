import { Spotlight, spotlight } from '@mantine/spotlight'
import '@mantine/spotlight/styles.css'
import { useDebouncedValue } from '@mantine/hooks'
import { IconSearch } from '@tabler/icons-react'
import { useNavigate } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { sections } from '../layout/navigation.tsx'
import { useSearchResults, type SearchResult } from './use-search-results.ts'

const searchDelayMs = 200

/** Finds pages, people, API keys and calls by a name or the start of an id, and opens them. */
export function SearchDialog({ onClose }: { readonly onClose: () => void }) {
  const navigate = useNavigate()
  const [text, setText] = useState('')
  const [searched] = useDebouncedValue(text.trim(), searchDelayMs)
  const { groups, isFetching } = useSearchResults(searched)
  useEffect(() => {
    spotlight.open()
  }, [])
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
        placeholder="A page, a person, an API key or a request id"
        leftSection={<IconSearch size={16} aria-hidden />}
      />
      <Spotlight.ActionsList>
        {found.map(({ group, results }) => (
          <Spotlight.ActionsGroup key={group} label={group}>
            {results.map(({ id, label, description, to, search }) => (
              <Spotlight.Action
                key={id}
                label={label}
                description={description}
                onClick={() => void navigate({ to, search })}
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
