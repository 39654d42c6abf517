import { mount } from 'svelte';
import '../look/base.css';
import '../social/social.css';
import PodcastsPage from './PodcastsPage.svelte';

mount(PodcastsPage, { target: document.body });
