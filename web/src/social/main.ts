import { mount } from 'svelte';
import '../look/base.css';
import './social.css';
import SocialPage from './SocialPage.svelte';

mount(SocialPage, { target: document.body });
